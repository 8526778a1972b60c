"""The languages that `is in LANGUAGE` can distinguish, by their English names and their codes."""

from __future__ import annotations

from typing import Final

LANGUAGES: Final = {
    "ace": "Acehnese", "af": "Afrikaans", "am": "Amharic", "an": "Aragonese", "ar": "Arabic", "as": "Assamese",
    "az": "Azerbaijani", "ba": "Bashkir", "bcl": "Bikol", "be": "Belarusian", "bg": "Bulgarian", "bn": "Bengali",
    "br": "Breton", "bs": "Bosnian", "ca": "Catalan", "crh": "Crimean Tatar", "cs": "Czech", "cy": "Welsh",
    "da": "Danish", "de": "German", "dz": "Dzongkha", "el": "Greek", "en": "English", "eo": "Esperanto",
    "es": "Spanish", "et": "Estonian", "eu": "Basque", "ext": "Extremaduran", "fa": "Persian", "fi": "Finnish",
    "fo": "Faroese", "fr": "French", "fuv": "Fulfulde", "fy": "Frisian", "ga": "Irish", "gcf": "Antillean Creole",
    "gcr": "Guianese Creole", "gd": "Scottish Gaelic", "gl": "Galician", "gom": "Konkani", "grc": "Ancient Greek",
    "gu": "Gujarati", "gug": "Guarani", "guw": "Gun", "ha": "Hausa", "hbo": "Biblical Hebrew", "he": "Hebrew",
    "hi": "Hindi", "hr": "Croatian", "ht": "Haitian Creole", "hu": "Hungarian", "hy": "Armenian",
    "id": "Indonesian", "ig": "Igbo", "is": "Icelandic", "it": "Italian", "ja": "Japanese", "jv": "Javanese",
    "ka": "Georgian", "kab": "Kabyle", "kik": "Kikuyu", "kk": "Kazakh", "km": "Khmer", "kn": "Kannada",
    "ko": "Korean", "ku": "Kurdish", "ky": "Kyrgyz", "la": "Latin", "lb": "Luxembourgish", "lg": "Ganda",
    "lij": "Ligurian", "ln": "Lingala", "lo": "Lao", "lt": "Lithuanian", "ltg": "Latgalian", "lv": "Latvian",
    "mg": "Malagasy", "mk": "Macedonian", "ml": "Malayalam", "mn": "Mongolian", "mr": "Marathi", "ms": "Malay",
    "mt": "Maltese", "my": "Burmese", "ne": "Nepali", "nl": "Dutch", "no": "Norwegian", "nso": "Northern Sotho",
    "oc": "Occitan", "om": "Oromo", "or": "Odia", "pa": "Punjabi", "pcm": "Nigerian Pidgin", "pl": "Polish",
    "ps": "Pashto", "pt": "Portuguese", "qu": "Quechua", "ro": "Romanian", "ru": "Russian", "rw": "Kinyarwanda",
    "sa": "Sanskrit", "se": "Northern Sami", "si": "Sinhala", "sk": "Slovak", "sl": "Slovenian", "sn": "Shona",
    "so": "Somali", "sq": "Albanian", "sr": "Serbian", "st": "Sotho", "sv": "Swedish", "sw": "Swahili",
    "ta": "Tamil", "te": "Telugu", "tg": "Tajik", "th": "Thai", "tk": "Turkmen", "tl": "Tagalog", "tr": "Turkish",
    "tt": "Tatar", "ug": "Uyghur", "uk": "Ukrainian", "ur": "Urdu", "uz": "Uzbek", "vec": "Venetian",
    "vi": "Vietnamese", "vo": "Volapük", "wa": "Walloon", "xh": "Xhosa", "yo": "Yoruba", "zh": "Chinese",
    "zu": "Zulu",
}  # fmt: skip
"""The name of each language by its code: of ISO 639-1, else of ISO 639-3."""

_OTHERS: Final = {
    "burmese": ("myanmar",),
    "chinese": ("mandarin", "cmn"),
    "dutch": ("flemish",),
    "frisian": ("west frisian",),
    "hebrew": ("iw",),
    "khmer": ("cambodian",),
    "norwegian": ("bokmål", "bokmal", "nynorsk", "nb", "nn"),
    "odia": ("oriya",),
    "persian": ("farsi",),
    "slovenian": ("slovene",),
    "spanish": ("castilian",),
    "tagalog": ("filipino", "fil"),
}
_NAMES: Final = {
    written.casefold(): name
    for code, name in LANGUAGES.items()
    for written in (name, code, *_OTHERS.get(name.casefold(), ()))
}


def language_named(written: str) -> str | None:
    """The name of the language that a name or a code means, in any case; None if it cannot be distinguished."""
    return _NAMES.get(written.casefold())

"""The language of a text is known where it is sure; names and codes of languages are known without the extra."""

from __future__ import annotations

import asyncio
import sys

import pytest

from evalc import extras
from evalc.base.errors import UsageError
from evalc.check.languages import LANGUAGES, language_named
from evalc.check.tree import Not, Test
from evalc.runtime.checks import Evidence, View
from evalc.runtime.checks.evaluate import evaluate

TEXTS = {
    "Arabic": "الطلب في الطريق وسيصل غداً صباحاً إلى عنوانكم.",
    "Bulgarian": "Поръчката е на път и ще пристигне утре сутринта.",  # noqa: RUF001
    "Chinese": "您的订单已经在路上了，预计明天上午送达，请您保持电话畅通。",  # noqa: RUF001 - full-width marks are meant
    "Czech": "Objednávka je na cestě a dorazí zítra ráno na vaši adresu.",
    "Dutch": "De bestelling is onderweg en wordt morgen bij u thuis bezorgd.",
    "English": "The order is on its way and will arrive tomorrow.",
    "Finnish": "Tilaus on matkalla ja saapuu perille huomenna aamulla.",
    "French": "Il fait beau aujourd'hui et nous sommes très contents de vous voir.",
    "German": "Die Bestellung ist unterwegs und wird morgen bei Ihnen ankommen.",
    "Greek": "Η παραγγελία είναι καθ' οδόν και θα φτάσει αύριο το πρωί.",  # noqa: RUF001
    "Hebrew": "ההזמנה בדרך ותגיע מחר בבוקר לכתובת שלך.",
    "Hindi": "आपका ऑर्डर रास्ते में है और कल सुबह तक पहुँच जाएगा।",
    "Hungarian": "A rendelés úton van, és holnap reggel megérkezik.",
    "Italian": "L'ordine è in viaggio e arriverà domani mattina a casa vostra.",
    "Japanese": "ご注文の商品は現在配送中で、明日の朝にはお手元に届く予定です。",
    "Korean": "주문하신 상품은 배송 중이며 내일 아침에 도착할 예정입니다.",
    "Norwegian": "Bestillingen er på vei og kommer frem i morgen tidlig, så vi gleder oss til å høre fra deg.",
    "Polish": "Zamówienie jest w drodze i dotrze jutro rano pod wskazany adres.",
    "Portuguese": "O pedido está a caminho e não vai chegar antes de amanhã de manhã.",
    "Russian": "Заказ уже в пути и будет доставлен завтра утром.",
    "Spanish": "El pedido está en camino y llegará mañana por la mañana a su casa.",
    "Swedish": "Beställningen är på väg och kommer fram i morgon förmiddag.",
    "Thai": "คำสั่งซื้อของคุณกำลังจัดส่งและจะถึงพรุ่งนี้เช้า",
    "Turkish": "Siparişiniz yolda ve yarın sabah adresinize ulaşacak.",  # noqa: RUF001
    "Ukrainian": "Замовлення вже в дорозі та буде доставлене завтра вранці.",
    "Vietnamese": "Đơn hàng của bạn đang được vận chuyển và sẽ đến vào sáng mai.",
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_sentence_is_in_its_language(name: str) -> None:
    assert extras.language.language_of(TEXTS[name]) == name


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Paris",
        "The order is late",  # 14 letters
        "12345 67890 12345 67890 12345 67890",
        "Paris, London, Berlin, Madrid, Rome",
        "asdkjh qwlekj zxmcnb poiuyt mnbqwe",
        "```\nfor item in items:\n    print(item)\n```",
        "https://example.com/the-order-is-on-its-way-and-will-arrive-tomorrow",
    ],
)
def test_the_language_of_a_short_or_doubtful_text_is_not_sure(text: str) -> None:
    assert extras.language.language_of(text) is None


def test_code_and_addresses_are_not_read() -> None:
    code = "```python\n" + "for item in the_items_of_the_order: print(item)\n" * 20 + "```"
    text = f"{TEXTS['German']}\n\n{code}\n\nhttps://example.com/the-order-is-on-its-way-and-will-arrive"
    assert extras.language.language_of(text) == "German"


def test_a_long_text_is_read_within_a_limit() -> None:
    assert extras.language.language_of(TEXTS["English"] * 100_000) == "English"
    assert extras.language.language_of("`" * 1_000_001) is None


def test_a_language_has_its_name_and_its_code() -> None:
    assert {language_named(each) for each in ("German", "german", "de", "DE")} == {"German"}
    assert (language_named("nb"), language_named("Farsi"), language_named("Mandarin")) == (
        "Norwegian",
        "Persian",
        "Chinese",
    )
    assert (language_named("Klingon"), language_named("")) == (None, None)
    assert len({name.casefold() for name in LANGUAGES.values()}) == len(LANGUAGES)
    assert all(language_named(name) == language_named(code) == name for code, name in LANGUAGES.items())


def test_every_language_of_the_model_has_a_name() -> None:
    model = extras.language._identifier()
    codes = {extras.language._VARIANTS.get(label, label) for label in model.labels}
    assert codes - {"zxx"} == set(LANGUAGES)  # `zxx` is no language


def test_without_its_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(vars(extras), "language", raising=False)
    monkeypatch.setitem(sys.modules, "py3langid", None)
    with pytest.raises(UsageError, match=r"`is in LANGUAGE` needs packages .*: pip install 'evalc\[language\]'"):
        extras.refuse_missing("language")
    verdict = asyncio.run(evaluate(Test("language", "English"), View.of(Evidence(response=TEXTS["English"]))))
    assert verdict.outcome == "error"
    assert "pip install" in (verdict.message or "")


def test_a_check_of_the_language_asks_the_model() -> None:
    check = Test("language", "German")
    assert asyncio.run(evaluate(check, View.of(Evidence(response=TEXTS["German"])))).outcome == "passed"
    assert asyncio.run(evaluate(check, View.of(Evidence(response=TEXTS["English"])))).outcome == "failed"
    assert asyncio.run(evaluate(Not(check), View.of(Evidence(response="ja")))).outcome == "not_applicable"

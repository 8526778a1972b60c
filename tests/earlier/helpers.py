"""Two agents: one that answers what is asked, and one that forgets refunds."""


def good(message: str) -> str:
    return f"{message}: hello, your parcel, your refund"


def forgetful(message: str) -> str:
    return f"{message}: hello, your parcel"

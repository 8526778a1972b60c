"""Two agents: the first answers what is asked, the second forgets refunds."""


def good(message: str) -> str:
    return f"{message}: hello, your parcel, your refund"


def forgetful(message: str) -> str:
    return f"{message}: hello, your parcel"

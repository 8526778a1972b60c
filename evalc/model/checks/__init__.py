"""The vocabulary of checks: each is declared once, in the file of its family, and every phase reads its declaration."""

from evalc.model.checks.composed import *
from evalc.model.checks.grounded import *
from evalc.model.checks.json import *
from evalc.model.checks.judged import *
from evalc.model.checks.limits import *
from evalc.model.checks.packaged import *
from evalc.model.checks.texts import *
from evalc.model.checks.tools import *

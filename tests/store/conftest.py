"""The finished runs of the tiny study, which tests of stores read and copy."""

from tests.study.conftest import copied as copied
from tests.study.conftest import trained as trained

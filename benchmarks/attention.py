"""Attention against cuDNN, FlexAttention and flash attention: searched, then timed in turns.

python benchmarks/attention.py [--only NAME ...] [--no-search] [--out DIR] [--rounds 24]
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import searched

JOBS = Path(__file__).with_name("attention_jobs.json")

if __name__ == "__main__":
    sys.exit(searched.main(__doc__.splitlines()[0], JOBS, "attention"))

# The example of README.md.
from datetime import date, timedelta
from enum import Enum

Plan = Enum("Plan", {"BASIC": "basic", "PRO": "pro"})

def invoice(plan: Plan, start: date, seats: int = 1) -> dict:
    """Compute what a customer pays."""
    return {"total": seats * (12 if plan is Plan.PRO else 5), "due": start + timedelta(days=30)}

"""Proofs by z3 from the text of the TLA+ modules: no bound on sets or numbers.

``Theory`` (in ``theory``) translates; its neighbours state obligations and ask z3.
"""

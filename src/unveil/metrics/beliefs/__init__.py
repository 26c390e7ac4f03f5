"""Whether a guess with sets can be right under the masking that was used."""

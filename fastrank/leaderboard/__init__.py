"""Leaderboards: the results of many systems on many data sets as a static site."""

"""What a push may hold, decided while its objects are in quarantine: no secrets, no planted repositories."""

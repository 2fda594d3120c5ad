-- Where other masters reach this one, and what they show when they come; null if they do not.
ALTER TABLE leases ADD COLUMN address text;
ALTER TABLE leases ADD COLUMN secret text;

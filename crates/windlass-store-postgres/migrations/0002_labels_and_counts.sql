-- What a run was marked with, as a JSON object; null if with nothing.
ALTER TABLE runs ADD COLUMN labels text;
-- How many jobs were in which state when the run ended, as a JSON object; null while it is open, and of runs that ended
-- before there was this column.
ALTER TABLE runs ADD COLUMN counts text;
-- People look for what went wrong among many runs that did not.
CREATE INDEX runs_failed ON runs (id) WHERE state = 'failed';
CREATE INDEX runs_stopped ON runs (id) WHERE state = 'stopped';

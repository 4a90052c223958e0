-- Only the user who claimed may repeat a result (L3, L6).

-- +goose Up
ALTER TABLE result ADD COLUMN claimed_by TEXT; -- NULL: the result is older than this column

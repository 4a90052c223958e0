-- Only the user who claimed may repeat a result (L3, L6). It is separate because
-- stores with the first schema exist; no older server runs beside it, as a store
-- has one server.

-- +goose Up
ALTER TABLE result ADD COLUMN claimed_by TEXT; -- NULL: the result is older than this column

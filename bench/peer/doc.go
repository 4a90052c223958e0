// Package peer lets other job queues on PostgreSQL do the drain that seqlease
// does: as their documentation says, with the settings that their authors give
// for throughput, the same payload sizes and the same durability.
package peer

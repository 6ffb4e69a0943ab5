/// How the disk of a journal behaves: its health, its syncs, and what it does not give.
package io.penstock.storage.disk;

/// `penstock bench doors`: values over Redis' protocol, at a node and at a Redis server.
@NullMarked
package io.penstock.lab.bench.doors;

import org.jspecify.annotations.NullMarked;

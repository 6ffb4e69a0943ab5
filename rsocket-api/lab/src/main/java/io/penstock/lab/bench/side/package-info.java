/// The two sides of a bench over a connection: what both must set alike, the loads that run between them, their memory,
/// and the rounds by turns.
@NullMarked
package io.penstock.lab.bench.side;

import org.jspecify.annotations.NullMarked;

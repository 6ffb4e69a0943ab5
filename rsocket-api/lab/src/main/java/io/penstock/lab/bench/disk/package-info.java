/// Benches of a disk level in this process: how long reclaiming and recovering take beside paced requests.
@NullMarked
package io.penstock.lab.bench.disk;

import org.jspecify.annotations.NullMarked;

/// A cluster of many nodes in one thread and in virtual time: the real directory, tier and wire over a map and a
/// network that are simulated. It counts messages and processor time of a call as the number of nodes grows.
@NullMarked
package io.penstock.lab.bench.cluster.scale;

import org.jspecify.annotations.NullMarked;

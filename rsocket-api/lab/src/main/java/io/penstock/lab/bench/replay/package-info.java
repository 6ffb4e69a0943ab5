/// `penstock bench replay`: CPU time of a replay beside the CPU time of its parts.
@NullMarked
package io.penstock.lab.bench.replay;

import org.jspecify.annotations.NullMarked;

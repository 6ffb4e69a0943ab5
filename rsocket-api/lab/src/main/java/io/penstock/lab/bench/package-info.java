/// Benchmarks to run on the machine at hand: the command that lists them.
@NullMarked
package io.penstock.lab.bench;

import org.jspecify.annotations.NullMarked;

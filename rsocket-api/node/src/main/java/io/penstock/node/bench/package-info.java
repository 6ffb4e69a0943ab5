/// Benchmarks to run on the machine at hand, with plots.
@NullMarked
package io.penstock.node.bench;

import org.jspecify.annotations.NullMarked;

/// Benchmarks that anybody can run on a machine of his own, with plots.
@NullMarked
package io.penstock.node.bench;

import org.jspecify.annotations.NullMarked;

/// Files of tensors, and tensors that are made from a seed.
@NullMarked
package io.penstock.examples.disaggregated.tensors;

import org.jspecify.annotations.NullMarked;

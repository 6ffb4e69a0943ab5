/// The shape of a model's cache: layers, heads, block size, and the presets of known models.
@NullMarked
package io.penstock.node.shape;

import org.jspecify.annotations.NullMarked;

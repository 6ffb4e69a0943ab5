/// The configuration of a node: sizes, a model's layout, the table of settings, and the origin of each value.
@NullMarked
package io.penstock.node.config;

import org.jspecify.annotations.NullMarked;

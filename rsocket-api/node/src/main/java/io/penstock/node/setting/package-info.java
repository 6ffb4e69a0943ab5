/// One setting of a node: its names, its type, and the origin of its value.
@NullMarked
package io.penstock.node.setting;

import org.jspecify.annotations.NullMarked;

/// Doors of a node: places where clients of other protocols store values, which lie in the node's tiers like blocks. A
/// [io.penstock.node.door.DoorKind] is found by `ServiceLoader`, in a module that a node without its door never loads.
@NullMarked
package io.penstock.node.door;

import org.jspecify.annotations.NullMarked;

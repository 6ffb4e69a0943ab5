/// Commands that look after the journal of a disk level while no node has it open.
@NullMarked
package io.penstock.node.ssd;

import org.jspecify.annotations.NullMarked;

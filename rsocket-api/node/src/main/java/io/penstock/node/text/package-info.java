/// Values as text for people and for machines: sizes, durations, numbers, tables, JSON, and the reasons of failures.
@NullMarked
package io.penstock.node.text;

import org.jspecify.annotations.NullMarked;

/// Sessions in folders: the blocks of one session as a safetensors file, and a manifest that names and verifies them.
@NullMarked
package io.penstock.node.session;

import org.jspecify.annotations.NullMarked;

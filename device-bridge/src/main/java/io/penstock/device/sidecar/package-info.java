/// The side-car: a process without a device of its own shares host memory and device buffers with the node that has
/// one, and has it copy between them, over a Unix domain socket that carries names and never bytes. Start with
/// `SideCarServer` and `SideCarClient`; the bytes on the socket are in `docs/sidecar-protocol.md`.
@NullMarked
package io.penstock.device.sidecar;

import org.jspecify.annotations.NullMarked;

/// Connections of the side-car: messages, their bytes, and the socket that carries them; `docs/sidecar-protocol.md`
/// describes the bytes.
package io.penstock.device.sidecar.link;

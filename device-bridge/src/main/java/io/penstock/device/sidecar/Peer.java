package io.penstock.device.sidecar;

import java.nio.file.attribute.UserPrincipal;

/// The process at the other end.
///
/// @param user its user, from the socket
/// @param process its number, from the process itself
record Peer(UserPrincipal user, int process) {}

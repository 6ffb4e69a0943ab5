package io.penstock.device.sidecar;

import java.nio.file.attribute.UserPrincipal;

/// The process at the other end.
///
/// @param user whose it is, as the system says
/// @param process its number, as it says itself
record Peer(UserPrincipal user, int process) {}

package io.penstock.device.sidecar;

/// A message and the request that it is, or that it answers.
///
/// @param request counts from 1 on each link; 0 in an answer to what could not be read
record Frame(long request, Message message) {}

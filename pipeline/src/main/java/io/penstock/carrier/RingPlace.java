package io.penstock.carrier;

/// By which the other side of a read ring finds a region of it.
///
/// @param descriptor in the process that owns the region
/// @param token of the region
public record RingPlace(int descriptor, byte[] token) {
  public RingPlace {
    token = token.clone();
  }
}

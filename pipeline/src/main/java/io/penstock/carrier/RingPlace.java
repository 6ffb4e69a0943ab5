package io.penstock.carrier;

/// Address of a region of a read ring for the other side.
///
/// @param descriptor in the process that owns the region
/// @param token of the region
public record RingPlace(int descriptor, byte[] token) {
  public RingPlace {
    token = token.clone();
  }
}

package io.penstock.wire.protocol;

import static io.penstock.wire.protocol.Fields.bytes;
import static io.penstock.wire.protocol.Fields.exactly;
import static io.penstock.wire.protocol.Fields.present;

import io.penstock.block.SpaceId;
import io.penstock.carrier.RingPlace;
import io.penstock.system.SharedRegion;
import java.time.Duration;

/// The messages that open a read ring, see `PROTOCOL.md`.
public final class RingMessages {
  private RingMessages() {}

  /// @param proof bytes that the client read in the node's probe
  /// @param descriptor of the region of requests in the client
  /// @param token of that region
  /// @param spinNanos longest spin that the client wishes of the node's thread
  public record RingRequest(byte[] space, byte[] proof, int descriptor, byte[] token, long spinNanos) {
    public RingRequest {
      exactly("space", space, SpaceId.BYTES);
      present("proof", proof);
      exactly("token", token, SharedRegion.TOKEN_BYTES);
      if (spinNanos < 0) {
        throw WireFormatException.request("spinNanos", ">= 0", spinNanos);
      }
    }

    public static RingRequest of(SpaceId space, byte[] proof, RingPlace place, Duration spin) {
      return new RingRequest(bytes(space), proof, place.descriptor(), place.token(), spin.toNanos());
    }

    public RingPlace place() {
      return new RingPlace(descriptor, token);
    }
  }

  /// @param descriptor of the region of answers in the node
  /// @param token of that region
  public record RingReply(int descriptor, byte[] token) {
    public RingReply {
      exactly("token", token, SharedRegion.TOKEN_BYTES);
    }

    public static RingReply of(RingPlace place) {
      return new RingReply(place.descriptor(), place.token());
    }

    public RingPlace place() {
      return new RingPlace(descriptor, token);
    }
  }
}

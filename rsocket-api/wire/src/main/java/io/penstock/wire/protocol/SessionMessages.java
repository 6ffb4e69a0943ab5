package io.penstock.wire.protocol;

import static io.penstock.wire.protocol.Fields.exactly;
import static io.penstock.wire.protocol.Fields.oneOf;
import static io.penstock.wire.protocol.Fields.present;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import io.penstock.block.session.SessionBounds;
import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionPage;
import io.penstock.block.session.SessionState;
import io.penstock.block.session.SessionUse;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The messages of the routes `session` and `blocks`, and the session that other requests name; see [Messages] for
/// what holds for all.
public final class SessionMessages {
  private SessionMessages() {}

  /// The session of a request.
  ///
  /// @param id 1 to 64 bytes without a meaning
  /// @param priority 0 to 7; null for 3
  /// @param keepMillis how long the blocks are preferred after the last request; null for the node's own time
  @OmitsNulls
  public record Named(byte[] id, @Nullable Integer priority, @Nullable Long keepMillis) {
    public Named {
      int length = present("session.id", id).length;
      if (length == 0 || length > SessionId.MOST_BYTES) {
        throw WireFormatException.request("session.id", "of 1 to " + SessionId.MOST_BYTES + " bytes", length);
      }
      if (priority != null && (priority < 0 || priority > SessionUse.MOST_PRIORITY)) {
        throw WireFormatException.request("session.priority", "in [0, " + SessionUse.MOST_PRIORITY + "]", priority);
      }
      long most = SessionBounds.MOST_KEEP.toMillis();
      if (keepMillis != null && (keepMillis < 0 || keepMillis > most)) {
        throw WireFormatException.request("session.keepMillis", "in [0, " + most + "]", keepMillis);
      }
    }

    /// Null for none.
    public static @Nullable Named of(@Nullable SessionUse use) {
      if (use == null) {
        return null;
      }
      Duration keep = use.keep();
      return new Named(use.session().bytes(), use.priority(), keep == null ? null : (Long) keep.toMillis());
    }

    public SessionUse use() {
      return new SessionUse(SessionId.of(id), priority == null ? SessionUse.DEFAULT_PRIORITY : priority,
          keepMillis == null ? null : Duration.ofMillis(keepMillis));
    }

    /// Null for none.
    public static @Nullable SessionUse use(@Nullable Named named) {
      return named == null ? null : named.use();
    }
  }

  /// @param state a name of [SessionState]
  /// @param space whose session it is; null for the first
  /// @param everywhere whether the request is for all spaces of the node that have no salt; then `space` is null
  @OmitsNulls
  public record SessionRequest(Named session, String state, byte @Nullable [] space, @Nullable Boolean everywhere) {
    public SessionRequest {
      present("session", session);
      oneOf(SessionState.class, "state", state);
      if (space != null) {
        exactly("space", space, SpaceId.BYTES);
      }
      if (space != null && Boolean.TRUE.equals(everywhere)) {
        throw WireFormatException.request("everywhere", "absent with a space", true);
      }
    }

    public SessionRequest(Named session, String state, byte @Nullable [] space) {
      this(session, state, space, null);
    }

    public boolean isEverywhere() {
      return Boolean.TRUE.equals(everywhere);
    }

    public SessionState sessionState() {
      return oneOf(SessionState.class, "state", state);
    }
  }

  /// @param known whether the node knows the session
  /// @param spaces in how many spaces; null unless the request was for all
  @OmitsNulls
  public record SessionReply(boolean known, @Nullable Integer spaces) {
    public SessionReply(boolean known) {
      this(known, null);
    }

    /// Number of spaces that know the session; at most 1 from a node that takes a request for all as one for the first.
    public int count() {
      return spaces != null ? spaces : known ? 1 : 0;
    }
  }

  /// Asks which blocks a session has, or, without a space, which spaces know it.
  ///
  /// @param id of the session
  /// @param space whose blocks are asked for; null to ask for spaces
  /// @param after hash of the last block of the page before; null for the first page
  /// @param most keys of a page at most; null for as many as the node allows
  @OmitsNulls
  public record BlocksRequest(byte[] id, byte @Nullable [] space, byte @Nullable [] after, @Nullable Integer most) {
    public BlocksRequest {
      new Named(id, null, null); // checks it
      if (space != null) {
        exactly("space", space, SpaceId.BYTES);
      }
      if (after != null) {
        exactly("after", after, BlockHash.BYTES);
      }
      if (after != null && space == null) {
        throw WireFormatException.request("after", "absent without a space", "given");
      }
      if (most != null && most < 1) {
        throw WireFormatException.request("most", ">= 1", most);
      }
    }

    public static BlocksRequest of(SessionId session, @Nullable SpaceId space, @Nullable BlockKey after, int most) {
      return new BlocksRequest(session.bytes(), space == null ? null : Fields.bytes(space),
          after == null ? null : joined(List.of(after)), most);
    }

    public SessionId session() {
      return SessionId.of(id);
    }
  }

  /// @param known whether the node knows the session, and its block `after`
  /// @param hashes of visible blocks of the session
  /// @param next hash after which the next page begins; null at the end
  /// @param spaces that know the session, if the request named none; those with a salt are left out
  @OmitsNulls
  public record BlocksReply(boolean known, byte[] hashes, byte @Nullable [] next,
      @Nullable List<Handshake.Space> spaces) {
    public BlocksReply {
      if (present("hashes", hashes).length % BlockHash.BYTES != 0) {
        throw WireFormatException.request("hashes", "a multiple of " + BlockHash.BYTES + " bytes", hashes.length);
      }
      if (next != null) {
        exactly("next", next, BlockHash.BYTES);
      }
      spaces = spaces == null ? null : List.copyOf(spaces);
    }

    public static BlocksReply of(SessionPage page) {
      BlockKey next = page.next();
      return new BlocksReply(true, joined(page.keys()), next == null ? null : joined(List.of(next)), null);
    }

    public static BlocksReply of(List<Handshake.Space> spaces) {
      return new BlocksReply(!spaces.isEmpty(), new byte[0], null, spaces);
    }

    /// A reply that the session is not known.
    public static BlocksReply unknown() {
      return new BlocksReply(false, new byte[0], null, null);
    }

    /// The page, of a request for `space`.
    public SessionPage page(SpaceId space) {
      return new SessionPage(BlockKey.list(space, ByteBuffer.wrap(hashes)),
          next == null ? null : BlockKey.list(space, ByteBuffer.wrap(next)).getFirst());
    }
  }

  private static byte[] joined(List<BlockKey> keys) {
    ByteBuffer hashes = ByteBuffer.allocate(keys.size() * BlockHash.BYTES);
    keys.forEach(key -> key.hash().write(hashes));
    return hashes.array();
  }
}

package io.penstock.wire.cluster;

import static java.util.Objects.requireNonNull;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/// Who says that it has the blocks of a request. Immutable.
public final class Located {
  /// Most holders that are told for one key.
  public static final int MOST_HOLDERS = 8;
  /// Most members that one answer can name.
  public static final int MOST_MEMBERS = 1 << 16;
  private static final int HOLDER_BYTES = 3;
  private static final int LEVELS = 256;

  private final List<Member> members;
  private final byte[] packed;
  private final int[] starts;

  /// A member that says that it has a block.
  ///
  /// @param member index of the member in [Located#members()]
  /// @param level of that member, 0 for its fastest
  public record Holder(int member, int level) {}

  private Located(List<Member> members, byte[] packed, int[] starts) {
    this.members = List.copyOf(members);
    this.packed = packed;
    this.starts = starts;
  }

  /// @param members that hold any of the keys, at most [#MOST_MEMBERS]
  /// @param holders for each key, in order of the request, at most [#MOST_HOLDERS], of levels below 256
  /// @throws IllegalArgumentException if that does not hold
  public static Located of(List<Member> members, List<List<Holder>> holders) {
    int[] starts = new int[holders.size() + 1];
    for (int i = 0; i < holders.size(); i++) {
      starts[i + 1] = starts[i] + 1 + HOLDER_BYTES * holders.get(i).size();
    }
    ByteBuffer to = ByteBuffer.allocate(starts[holders.size()]);
    for (List<Holder> each : holders) {
      within("holders of a key", each.size(), MOST_HOLDERS + 1);
      to.put((byte) each.size());
      for (Holder holder : each) {
        within("number of a member", holder.member(), members.size());
        within("level", holder.level(), LEVELS);
        to.putShort((short) holder.member()).put((byte) holder.level());
      }
    }
    return read(members, to.array());
  }

  private static void within(String name, int value, int below) {
    if (value < 0 || value >= below) {
      throw new IllegalArgumentException(name + " must be in [0, " + below + ") (was " + value + ")");
    }
  }

  /// Reads the packed form: for each key a byte that counts its holders, and for each of them two bytes that number the
  /// member and a byte that numbers the level.
  ///
  /// @throws IllegalArgumentException if the bytes end in the middle of a key, name a member that is not there, or more
  ///     than [#MOST_HOLDERS] for a key, or if there are more than [#MOST_MEMBERS]
  public static Located read(List<Member> members, byte[] packed) {
    requireNonNull(packed, "packed");
    if (members.size() > MOST_MEMBERS) {
      throw new IllegalArgumentException("members must be <= " + MOST_MEMBERS + " (was " + members.size() + ")");
    }
    int keys = 0;
    for (int at = 0; at < packed.length; keys++) {
      at = end(members, packed, at);
    }
    int[] starts = new int[keys + 1];
    for (int i = 0; i < keys; i++) {
      starts[i + 1] = end(members, packed, starts[i]);
    }
    return new Located(members, packed, starts);
  }

  private static int end(List<Member> members, byte[] packed, int at) {
    int count = packed[at];
    int end = at + 1 + HOLDER_BYTES * count;
    if (count < 0 || count > MOST_HOLDERS || end > packed.length) {
      throw new IllegalArgumentException(
          "holders must be at most " + MOST_HOLDERS + " a key, and all be there (was " + count + " at byte " + at
              + ")");
    }
    for (int i = at + 1; i < end; i += HOLDER_BYTES) {
      if (member(packed, i) >= members.size()) {
        throw new IllegalArgumentException(
            "holders must be of " + members.size() + " members (was number " + member(packed, i) + ")");
      }
    }
    return end;
  }

  private static int member(byte[] packed, int at) {
    return Short.toUnsignedInt(ByteBuffer.wrap(packed).getShort(at));
  }

  public List<Member> members() {
    return members;
  }

  /// Number of keys of the request.
  public int size() {
    return starts.length - 1;
  }

  /// Whether any member says that it has the key at `position`.
  public boolean isHeld(int position) {
    return packed[starts[position]] > 0;
  }

  /// Members that say that they have the key at `position`.
  public List<Holder> holders(int position) {
    List<Holder> all = new ArrayList<>();
    for (int at = starts[position] + 1; at < starts[position + 1]; at += HOLDER_BYTES) {
      all.add(new Holder(member(packed, at), Byte.toUnsignedInt(packed[at + 2])));
    }
    return all;
  }

  /// The packed form, see [#read].
  public byte[] packed() {
    return packed.clone();
  }
}

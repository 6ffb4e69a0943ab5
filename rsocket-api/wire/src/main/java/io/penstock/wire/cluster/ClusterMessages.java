package io.penstock.wire.cluster;

import io.penstock.wire.protocol.Fields;
import io.penstock.wire.protocol.OmitsNulls;
import io.penstock.wire.protocol.WireFormatException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The messages of the routes `members` and `locate`. The rules of [io.penstock.wire.protocol.Messages] hold for them,
/// and `PROTOCOL.md` owns their meaning.
public final class ClusterMessages {
  private ClusterMessages() {}

  /// Asks who is there.
  public record MembersRequest() {}

  /// @param cluster its name
  public record MembersReply(String cluster, List<MemberForm> members) {
    public MembersReply {
      Fields.present("cluster", cluster);
      members = Fields.copied("members", members);
    }

    public static MembersReply of(String cluster, List<Member> members) {
      return new MembersReply(cluster, members.stream().map(MemberForm::of).toList());
    }

    public ClusterView view() {
      return new ClusterView(cluster, members.stream().map(MemberForm::member).toList());
    }
  }

  /// @param members that hold any of the keys
  /// @param holders packed as [Located#read] says, in the order of the keys of the request
  public record LocateReply(List<MemberForm> members, byte[] holders) {
    public LocateReply {
      members = Fields.copied("members", members);
      Fields.present("holders", holders);
    }

    public static LocateReply of(Located located) {
      return new LocateReply(located.members().stream().map(MemberForm::of).toList(), located.packed());
    }

    /// @throws WireFormatException if it does not answer for exactly `keys` keys
    public Located of(int keys) {
      Located located;
      try {
        located = Located.read(members.stream().map(MemberForm::member).toList(), holders);
      } catch (IllegalArgumentException e) {
        throw WireFormatException.request("holders", "packed as the protocol says", e);
      }
      if (located.size() != keys) {
        throw WireFormatException.request("holders", "of " + keys + " keys", located.size());
      }
      return located;
    }
  }

  /// @param capacityBytes null if unbounded
  @OmitsNulls
  public record MemberForm(String name, long generation, List<String> endpoints, String place, String state,
      long bytes, @Nullable Long capacityBytes, long inFlightBytes) {
    public MemberForm {
      Fields.present("member.name", name);
      endpoints = Fields.copied("member.endpoints", endpoints);
      Fields.present("member.place", place);
      Fields.oneOf(Member.State.class, "member.state", state);
      if (bytes < 0 || inFlightBytes < 0 || (capacityBytes != null && capacityBytes < 0)) {
        throw WireFormatException.request("member.bytes, capacityBytes and inFlightBytes", ">= 0",
            bytes + ", " + capacityBytes + ", " + inFlightBytes);
      }
    }

    static MemberForm of(Member member) {
      Member.Figures figures = member.figures();
      return new MemberForm(member.name(), member.generation(), member.endpoints(), member.place(),
          member.state().name(), figures.bytes(),
          figures.capacityBytes() == Long.MAX_VALUE ? null : (Long) figures.capacityBytes(), figures.inFlightBytes());
    }

    Member member() {
      return new Member(name, generation, endpoints, place, Fields.oneOf(Member.State.class, "member.state", state),
          new Member.Figures(bytes, capacityBytes == null ? Long.MAX_VALUE : capacityBytes, inFlightBytes));
    }
  }
}

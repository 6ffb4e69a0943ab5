package io.penstock.wire.cluster;

import io.penstock.wire.protocol.Fields;
import io.penstock.wire.protocol.OmitsNulls;
import io.penstock.wire.protocol.WireFormatException;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The messages of the routes `members`, `locate`, `tasks` and `task`. The rules of
/// [io.penstock.wire.protocol.Messages] hold for them, and `PROTOCOL.md` owns their meaning.
public final class ClusterMessages {
  private ClusterMessages() {}

  private static boolean isAny(Enum<?>[] words, String word) {
    return Arrays.stream(words).anyMatch(each -> each.name().equals(word));
  }

  /// Asks who is there.
  public record MembersRequest() {}

  /// @param cluster its name
  @OmitsNulls
  public record MembersReply(String cluster, List<MemberForm> members, @Nullable List<QuotaForm> quotas) {
    public MembersReply {
      Fields.present("cluster", cluster);
      members = Fields.copied("members", members);
      quotas = quotas == null ? null : Fields.copied("quotas", quotas);
    }

    public static MembersReply of(ClusterView view) {
      return new MembersReply(view.cluster(), view.members().stream().map(MemberForm::of).toList(),
          view.quotas().isEmpty() ? null : view.quotas().stream().map(QuotaForm::of).toList());
    }

    public ClusterView view() {
      return new ClusterView(cluster, members.stream().map(MemberForm::member).toList(),
          quotas == null ? List.of() : quotas.stream().map(QuotaForm::quota).toList());
    }
  }

  /// A space that has a quota over all members.
  public record QuotaForm(String space, long bytes, long quotaBytes, int members) {
    static QuotaForm of(SpaceQuota quota) {
      return new QuotaForm(quota.space(), quota.bytes(), quota.quotaBytes(), quota.members());
    }

    SpaceQuota quota() {
      try {
        return new SpaceQuota(Fields.present("quota.space", space), bytes, quotaBytes, members);
      } catch (IllegalArgumentException e) {
        throw WireFormatException.request("quota", "of numbers that make sense", e);
      }
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

  /// @param state a word that is not known here is taken for `DRAINING`: the member is read, and takes no new blocks
  /// @param capacityBytes null if unbounded
  /// @param idleMillis null if it is not told
  @OmitsNulls
  public record MemberForm(String name, long generation, List<String> endpoints, String place, String state,
      long bytes, @Nullable Long capacityBytes, long inFlightBytes, @Nullable Long idleMillis) {
    public MemberForm {
      Fields.present("member.name", name);
      endpoints = Fields.copied("member.endpoints", endpoints);
      Fields.present("member.place", place);
      Fields.present("member.state", state);
      if (bytes < 0 || inFlightBytes < 0 || (capacityBytes != null && capacityBytes < 0)
          || (idleMillis != null && idleMillis < 0)) {
        throw WireFormatException.request("member.bytes, capacityBytes, inFlightBytes and idleMillis", ">= 0",
            bytes + ", " + capacityBytes + ", " + inFlightBytes + ", " + idleMillis);
      }
    }

    static MemberForm of(Member member) {
      Member.Figures figures = member.figures();
      return new MemberForm(member.name(), member.generation(), member.endpoints(), member.place(),
          member.state().name(), figures.bytes(),
          figures.capacityBytes() == Long.MAX_VALUE ? null : (Long) figures.capacityBytes(), figures.inFlightBytes(),
          figures.idleMillis() == 0 ? null : (Long) figures.idleMillis());
    }

    Member member() {
      return new Member(name, generation, endpoints, place,
          state.equals(Member.State.UP.name()) ? Member.State.UP : Member.State.DRAINING,
          new Member.Figures(bytes, capacityBytes == null ? Long.MAX_VALUE : capacityBytes, inFlightBytes,
              idleMillis == null ? 0 : idleMillis));
    }
  }

  /// Asks for the tasks of the node.
  public record TasksRequest() {}

  public record TasksReply(List<TaskForm> tasks) {
    public TasksReply {
      tasks = Fields.copied("tasks", tasks);
    }

    public static TasksReply of(List<ClusterTask> tasks) {
      return new TasksReply(tasks.stream().map(TaskForm::of).toList());
    }

    /// The tasks of kinds and states that are known here; those that only a later release knows are left out.
    public List<ClusterTask> all() {
      return tasks.stream().filter(TaskForm::isKnown).map(TaskForm::task).toList();
    }
  }

  /// Starts a task, or ends one: exactly one field is there.
  @OmitsNulls
  public record TaskRequest(@Nullable OrderForm order, @Nullable String cancel) {
    public TaskRequest {
      if ((order == null) == (cancel == null)) {
        throw WireFormatException.request("order, cancel", "one of them", order == null ? "none" : "both");
      }
    }

    public static TaskRequest of(TaskOrder order) {
      return new TaskRequest(OrderForm.of(order), null);
    }

    /// @throws WireFormatException if there is none
    public TaskOrder taskOrder() {
      return Fields.present("order", order).order();
    }
  }

  /// @param task that was started; null if one was to end
  /// @param cancelled whether a task was ended
  @OmitsNulls
  public record TaskReply(@Nullable TaskForm task, boolean cancelled) {
    public static TaskReply of(ClusterTask task) {
      return new TaskReply(TaskForm.of(task), false);
    }

    /// @throws WireFormatException if none was started
    public ClusterTask started() {
      return Fields.present("task", task).task();
    }
  }

  /// @param kind [#REMOVE_IN_SPACE] for a removal in one space, which a node of an earlier release must not take for
  ///     one in all
  /// @param space null for all
  @OmitsNulls
  public record OrderForm(String kind, String pattern, String to, long bytesPerSecond, @Nullable String space) {
    private static final String REMOVE_IN_SPACE = "REMOVE_IN_SPACE";

    public OrderForm {
      Fields.present("order.kind", kind);
      Fields.present("order.pattern", pattern);
      Fields.present("order.to", to);
    }

    private boolean isKnown() {
      return isAny(TaskOrder.Kind.values(), kind) || (kind.equals(REMOVE_IN_SPACE) && space != null);
    }

    static OrderForm of(TaskOrder order) {
      return new OrderForm(order.space().isEmpty() ? order.kind().name() : REMOVE_IN_SPACE, order.pattern(), order.to(),
          order.bytesPerSecond(), order.space().isEmpty() ? null : order.space());
    }

    TaskOrder order() {
      try {
        TaskOrder.Kind what = kind.equals(REMOVE_IN_SPACE)
            ? TaskOrder.Kind.REMOVE
            : Fields.oneOf(TaskOrder.Kind.class, "order.kind", kind);
        return new TaskOrder(what, pattern, to, bytesPerSecond, space == null ? "" : space);
      } catch (IllegalArgumentException e) {
        throw WireFormatException.request("order", "one that makes sense", e);
      }
    }
  }

  public record TaskForm(String id, String node, OrderForm order, String state, long blocks, long bytes, long left,
      String problem) {
    public TaskForm {
      Fields.present("task.order", order);
      Fields.present("task.state", state);
      if (blocks < 0 || bytes < 0 || left < 0) {
        throw WireFormatException.request("task.blocks, bytes and left", ">= 0", blocks + ", " + bytes + ", " + left);
      }
    }

    private boolean isKnown() {
      return order.isKnown() && isAny(ClusterTask.State.values(), state);
    }

    static TaskForm of(ClusterTask task) {
      return new TaskForm(task.id(), task.node(), OrderForm.of(task.order()), task.state().name(), task.blocks(),
          task.bytes(), task.left(), task.problem());
    }

    ClusterTask task() {
      return new ClusterTask(Fields.present("task.id", id), Fields.present("task.node", node), order.order(),
          Fields.oneOf(ClusterTask.State.class, "task.state", state), blocks, bytes, left,
          Fields.present("task.problem", problem));
    }
  }

  /// What a gateway says of its tenants.
  ///
  /// @param tenants packed as [GatewayUse#packed] says
  public record UsageRequest(String gateway, String url, long number, byte[] tenants) {
    public UsageRequest {
      Fields.present("gateway", gateway);
      Fields.present("url", url);
      Fields.present("tenants", tenants);
    }

    public static UsageRequest of(GatewayUse use) {
      return new UsageRequest(use.gateway(), use.url(), use.number(), use.packed());
    }

    /// @throws WireFormatException if it is none
    public GatewayUse use() {
      try {
        return GatewayUse.of(gateway, url, number, tenants);
      } catch (IllegalArgumentException e) {
        throw WireFormatException.request("usage", "that of a gateway", e);
      }
    }
  }

  /// @param others what other gateways said last
  public record UsageReply(List<UsageRequest> others) {
    public UsageReply {
      others = Fields.copied("others", others);
    }

    public static UsageReply of(List<GatewayUse> others) {
      return new UsageReply(others.stream().map(UsageRequest::of).toList());
    }

    public List<GatewayUse> uses() {
      return others.stream().map(UsageRequest::use).toList();
    }
  }
}

package io.penstock.pool.share;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/// Divides bytes among members by weight, within the quota of each.
///
/// The share of a member is guaranteed. A member may hold more, up to its quota, while others leave room. What a quota
/// keeps from one member goes to the others, by their weights. Not thread-safe.
///
/// @param <M> what identifies a member
public final class SpaceShares<M> {
  private static final class Member<M> {
    final M id;
    final double weight;
    final long quota;
    long share;
    long held;

    Member(M id, double weight, long quota) {
      this.id = id;
      this.weight = weight;
      this.quota = quota;
    }

    long aboveShare() {
      return held - share;
    }
  }

  private final long totalBytes;
  private final List<Member<M>> members = new ArrayList<>();

  public SpaceShares(long totalBytes) {
    this.totalBytes = Checks.positive("totalBytes", totalBytes);
  }

  /// @param quotaBytes most bytes that the member holds; `Long.MAX_VALUE` for no quota
  public void add(M id, double weight, long quotaBytes) {
    if (!(weight > 0) || weight == Double.POSITIVE_INFINITY) {
      throw new IllegalArgumentException("weight must be > 0 and finite (was " + weight + ")");
    }
    members.add(new Member<>(requireNonNull(id, "id"), weight, Checks.positive("quotaBytes", quotaBytes)));
    divide();
  }

  /// Members take their quota if it is less than their part by weight; the others divide the rest.
  private void divide() {
    long left = totalBytes;
    double weights = members.stream().mapToDouble(member -> member.weight).sum();
    List<Member<M>> byQuota = members.stream()
        .sorted(Comparator.comparingDouble((Member<M> member) -> member.quota / member.weight)).toList();
    for (Member<M> member : byQuota) {
      member.share = Math.min(Math.min(member.quota, left), (long) (left * (member.weight / weights)));
      left -= member.share;
      weights -= member.weight;
    }
  }

  /// Bytes that are guaranteed to `id`.
  public long share(M id) {
    return member(id).share;
  }

  public long quota(M id) {
    return member(id).quota;
  }

  public long held(M id) {
    return member(id).held;
  }

  /// Bytes that `id` may take more, if they are free.
  public long mayTake(M id) {
    Member<M> member = member(id);
    return Math.max(0, member.quota - member.held);
  }

  /// Bytes that `id` may take more, from others if need be.
  public long mayDemand(M id) {
    Member<M> member = member(id);
    return Math.max(0, -member.aboveShare());
  }

  /// `id` holds `bytes` more, or fewer if negative.
  public void hold(M id, long bytes) {
    member(id).held += bytes;
  }

  /// The members above their share, the one most above it first.
  public List<M> aboveShare() {
    return members.stream().filter(member -> member.aboveShare() > 0)
        .sorted(Comparator.comparingLong((Member<M> member) -> -member.aboveShare())).map(member -> member.id).toList();
  }

  /// Bytes that `id` holds above its share.
  public long aboveShare(M id) {
    return Math.max(0, member(id).aboveShare());
  }

  private Member<M> member(M id) {
    return members.stream().filter(member -> member.id.equals(id)).findFirst()
        .orElseThrow(() -> new IllegalArgumentException("member must be of these shares (was " + id + ")"));
  }
}

package io.penstock.node.replay.report;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import io.penstock.node.link.StreamTimes;
import io.penstock.node.party.TierCopies;
import io.penstock.node.party.TierFill;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The outcome of a replay, as it is written in JSON.
///
/// @param penstock version of this build
/// @param trace what was replayed
/// @param parties who ran where
/// @param blockBytes bytes of the payload of a block
/// @param layers layers of the payload
/// @param model the blocks in bytes of the model
/// @param reuse what the hits save, and the ceiling
/// @param capacities for each tier what it may keep
/// @param policy who leaves first
/// @param concurrency requests under way at a time
/// @param requests requests handled
/// @param blockRefs blocks that the requests referenced
/// @param hits references that the node answered from what it had
/// @param prefixHits hits before the first miss of their request
/// @param hitRate hits of all references
/// @param hitsByTier which tier the hits came from, fastest first, as the node counts them; their sum is `hits`, unless
///     others asked the node meanwhile or it was asked again
/// @param fillByTier what each tier keeps at the end, fastest first
/// @param copiesByTier how blocks came to and from the device that a tier is on; absent for tiers without one
/// @param bytesDelivered payload bytes that reached the decode party, measured; those of a block cut off in mid-stream
///     do not count
/// @param bytesVerified those that it made anew and found equal
/// @param loopbackBytes what the kernel's loopback interface received meanwhile, for every program on the machine;
///     absent where no kernel says so
/// @param corruptBlocks blocks with a byte that differed
/// @param leakedBlocks arena slots, over all parties, claimed at the end beyond what a tier keeps visible and beyond
///     those that others had claimed when it began
/// @param repeatedPasses times that the node had to be asked again
/// @param peakInFlightBytes most bytes ever in flight, summed over the parties
/// @param budgetBytes the limit on them, summed over the parties
/// @param elapsedSeconds from the first request to the last byte
/// @param gigabytesPerSecond delivered and verified over the whole run, in 10⁹ bytes
/// @param steadyGigabytesPerSecond the same over the last quarter of its time
/// @param firstSliceMicros until the first bytes of layer 0 of any block of a request had been verified
/// @param firstLayerMicros until layer 0 of every block of a request had been verified: its decoder can begin
/// @param firstLayerMillis `firstLayerMicros` in milliseconds
/// @param lastLayerMillis until every layer had been
/// @param overlap share of the time of all requests that was left when the first layer of each had come: what a
///     decoder that begins then gains over one that waits for the whole request
/// @param times of the gets and puts at their clients; absent for parties in processes of their own
/// @param ceilingsGigabytesPerSecond what this machine can do at most, in 10⁹ bytes, where it was measured
/// @param policyAlone hits of the policy without bytes and levels, which `hits` must equal if the node was not asked
///     again; absent where the node runs already or has several KV groups, or a request has more than 65,536 blocks
/// @param troubles first trouble of each level that was not healthy at some time, by its name
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record ReplayReport(String penstock, String trace, String parties, int blockBytes, int layers,
    ModelBlocks model, Reuse reuse, Map<String, String> capacities,
    String policy, int concurrency, long requests, long blockRefs, long hits, long prefixHits, double hitRate,
    Map<String, Long> hitsByTier, Map<String, TierFill> fillByTier, Map<String, TierCopies> copiesByTier,
    long bytesDelivered, long bytesVerified, @Nullable Long loopbackBytes, long corruptBlocks,
    long leakedBlocks, long repeatedPasses, long peakInFlightBytes, long budgetBytes, double elapsedSeconds,
    double gigabytesPerSecond, double steadyGigabytesPerSecond,
    Micros firstSliceMicros, Micros firstLayerMicros, Latency firstLayerMillis, Latency lastLayerMillis, double overlap,
    Map<String, StreamTimes.Times> times,
    Map<String, Double> ceilingsGigabytesPerSecond, @Nullable PolicyHits policyAlone, Map<String, String> troubles) {

  /// True when every byte came, every byte was right, nothing leaked, the budget held, every level was healthy, and the
  /// hits are those of the policy, as far as they were compared.
  @JsonIgnore
  public boolean isClean() {
    return corruptBlocks == 0 && leakedBlocks == 0 && bytesVerified == bytesDelivered
        && (hasGroups() || bytesDelivered == blockRefs * blockBytes)
        && peakInFlightBytes <= budgetBytes && troubles.isEmpty() && hasHitsOfPolicy();
  }

  /// Whether the hits are those of the policy, as far as they were compared.
  boolean hasHitsOfPolicy() {
    return policyAlone == null || policyAlone.hits() == hits || repeatedPasses > 0; // asked again, keys count again
  }

  /// Whether blocks were those of several KV groups, of which a request needs a part: each group proves by itself that
  /// all that was asked for came.
  boolean hasGroups() {
    return !model.blockBytesByTier().isEmpty();
  }
}

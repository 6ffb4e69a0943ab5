package io.penstock.disagg.plan;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace.Difference;
import io.penstock.block.Plane;
import io.penstock.check.Checks;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// The description that one side gives of itself: the model's cache as this side lays it out, and its split over ranks.
///
/// @param model digest or name of the weights; equal on both sides
/// @param groups KV cache groups, at least one
/// @param parallelism of one data-parallel replica
/// @param stageLayers layers of each pipeline stage, draft layers not counted
/// @param draftLayers layers of a draft model behind those of the model; they belong to the last stage
public record Manifest(String model, List<Group> groups, Parallelism parallelism, List<Integer> stageLayers,
    int draftLayers) {
  /// Layers whose cache is kept in blocks of one shape.
  ///
  /// @param layout of a block that no rank splits: all layers of the group and all KV heads. Its planes have equal
  ///     numbers of heads; 1 stands for latents, which every rank keeps
  /// @param layers of the model that belong to the group, in ascending order, one for each layer of `layout`
  /// @param windowTokens how far back a token looks, itself included; 0 without a sliding window
  /// @param isState whether a block is not the cache of some tokens but the state after all of them, as recurrent
  ///     layers (Mamba) keep it: one block a request, of one token, which no context rank splits
  public record Group(BlockLayout layout, List<Integer> layers, int windowTokens, boolean isState) {
    public Group {
      requireNonNull(layout, "layout");
      layers = List.copyOf(layers);
      Checks.notNegative("windowTokens", windowTokens);
      if (layers.size() != layout.layers()) {
        throw new IllegalArgumentException("layers must be %d numbers, one for each layer of the layout (was %d)"
            .formatted(layout.layers(), layers.size()));
      }
      if (isState && (layout.tokens() != 1 || windowTokens != 0)) {
        throw new IllegalArgumentException(
            "a state must have blocks of 1 token and no window (was %d, window %d)".formatted(layout.tokens(),
                windowTokens));
      }
      for (int i = 0; i < layers.size(); i++) {
        Checks.notNegative("layer", layers.get(i));
        if (i > 0 && layers.get(i) <= layers.get(i - 1)) {
          throw new IllegalArgumentException("layers must be in ascending order (was %s)".formatted(layers));
        }
      }
      if (layout.planes().stream().mapToInt(Plane::heads).distinct().count() > 1) {
        throw new IllegalArgumentException("planes of a group must have equal heads (was %s)".formatted(
            layout.planes()));
      }
    }

    /// A group of cache that is kept by token.
    public Group(BlockLayout layout, List<Integer> layers, int windowTokens) {
      this(layout, layers, windowTokens, false);
    }

    /// A group of recurrent state.
    ///
    /// @param layout of one token; each part of the state is a plane, such as those of the convolution and of the scan
    public static Group state(BlockLayout layout, List<Integer> layers) {
      return new Group(layout, layers, 0, true);
    }

    /// A group that has all layers of the model.
    public static Group full(BlockLayout layout) {
      return new Group(layout, IntStream.range(0, layout.layers()).boxed().toList(), 0);
    }

    /// KV heads of the model; 1 for latents.
    public int heads() {
      return layout.planes().getFirst().heads();
    }

    private Optional<Difference> difference(String name, Group other) {
      BlockLayout theirs = other.layout;
      return Stream.of(differs(name + "layers", layers.size(), other.layers.size()),
          differs(name + "layers", layers, other.layers),
          differs(name + "windowTokens", windowTokens, other.windowTokens),
          differs(name + "state", isState, other.isState), differs(name + "tokens", layout.tokens(), theirs.tokens()),
          differs(name + "order", layout.order(), theirs.order()), differs(name + "kvHeads", heads(), other.heads()),
          differs(name + "planes", layout.planes().size(), theirs.planes().size()),
          IntStream.range(0, Math.min(layout.planes().size(), theirs.planes().size()))
              .mapToObj(i -> difference(name + "planes[" + i + "].", layout.planes().get(i), theirs.planes().get(i)))
              .flatMap(Optional::stream).findFirst())
          .flatMap(Optional::stream).findFirst();
    }

    private static Optional<Difference> difference(String name, Plane here, Plane there) {
      return Stream.of(differs(name + "kind", here.kind(), there.kind()),
          differs(name + "type", here.type(), there.type()), differs(name + "width", here.width(), there.width()))
          .flatMap(Optional::stream).findFirst();
    }

    /// Layers of the group among the first `modelLayers` of the model.
    private int layersBelow(int modelLayers) {
      return (int) layers.stream().filter(layer -> layer < modelLayers).count();
    }
  }

  public Manifest {
    requireNonNull(model, "model");
    groups = List.copyOf(groups);
    requireNonNull(parallelism, "parallelism");
    Checks.notNegative("draftLayers", draftLayers);
    if (groups.isEmpty()) {
      throw new IllegalArgumentException("groups must not be empty");
    }
    stageLayers = StageLayers.stated(stageLayers, layersOf(groups) - draftLayers, parallelism.pp());
  }

  /// Layers are split over the stages as engines do.
  public static Manifest of(String model, List<Group> groups, Parallelism parallelism, int draftLayers) {
    return new Manifest(model, groups, parallelism,
        StageLayers.even(layersOf(groups) - draftLayers, parallelism.pp()), draftLayers);
  }

  /// A manifest with one group that has all layers.
  public static Manifest of(String model, BlockLayout layout, Parallelism parallelism) {
    return of(model, List.of(Group.full(layout)), parallelism, 0);
  }

  private static int layersOf(List<Group> groups) {
    return groups.stream().mapToInt(group -> group.layers().getLast() + 1).max().orElse(0);
  }

  /// Layers of the model and of its draft.
  public int layers() {
    return layersOf(groups);
  }

  /// First layer of a group that a stage has; for the number of stages, the layers of the group.
  public int firstLayer(int group, int stage) {
    Group of = groups.get(group);
    return stage == parallelism.pp()
        ? of.layers().size()
        : of.layersBelow(StageLayers.bounds(stageLayers).get(stage));
  }

  /// The first field in which `other` differs, with numbers or short texts as values; fields of a group are named as
  /// `groups[0].kvHeads`.
  public Optional<Difference> difference(Manifest other) {
    Parallelism theirs = other.parallelism;
    return Stream.of(differs("model", model, other.model), differs("tp", parallelism.tp(), theirs.tp()),
        differs("pp", parallelism.pp(), theirs.pp()), differs("dp", parallelism.dp(), theirs.dp()),
        differs("pcp", parallelism.pcp(), theirs.pcp()), differs("dcp", parallelism.dcp(), theirs.dcp()),
        differs("groups", groups.size(), other.groups.size()),
        IntStream.range(0, Math.min(groups.size(), other.groups.size()))
            .mapToObj(i -> groups.get(i).difference("groups[" + i + "].", other.groups.get(i)))
            .flatMap(Optional::stream).findFirst(),
        differs("stageLayers", stageLayers, other.stageLayers), differs("draftLayers", draftLayers, other.draftLayers))
        .flatMap(Optional::stream).findFirst();
  }

  private static Optional<Difference> differs(String field, Object here, Object there) {
    return here.equals(there) ? Optional.empty() : Optional.of(new Difference(field, here, there));
  }

  /// Distribution of the heads of a group over the tensor-parallel ranks.
  ///
  /// @throws PlanRefusedException if ranks that split a sequence would keep different heads
  public HeadShards heads(int group) {
    return new HeadShards(groups.get(group).heads(), parallelism.tp(),
        groups.get(group).isState() ? 1 : parallelism.dcp());
  }

  /// The shape of a block of a group on a rank: its layers and heads only.
  ///
  /// @return empty if the rank's stage has no layer of the group
  public Optional<BlockLayout> rankLayout(int group, Rank rank) {
    BlockLayout all = groups.get(group).layout();
    int layers = firstLayer(group, rank.stage() + 1) - firstLayer(group, rank.stage());
    int heads = heads(group).count(rank.tp());
    return layers == 0
        ? Optional.empty()
        : Optional.of(new BlockLayout(layers, all.tokens(), all.order(), all
            .planes().stream().map(plane -> new Plane(plane.kind(), plane.type(), heads, plane.width())).toList()));
  }

  /// Blocks that a rank keeps for the first `tokens` of a request.
  public int rankBlocks(int group, Rank rank, int tokens) {
    if (groups.get(group).isState()) {
      return Math.min(1, tokens);
    }
    int blocks = Math.ceilDiv(tokens, groups.get(group).layout().tokens());
    int ranks = parallelism.contextRanks();
    return Math.ceilDiv(blocks - parallelism.contextRank(rank), ranks);
  }

  /// Bytes of `tokens` tokens of the layers and heads of a transfer from this side.
  public long bytes(Transfer transfer, long tokens) {
    long perToken = groups.get(transfer.group()).layout().planes().stream()
        .mapToLong(plane -> (long) plane.width() * plane.type().bytes()).sum();
    return perToken * tokens * transfer.layers().count() * transfer.heads().count();
  }
}

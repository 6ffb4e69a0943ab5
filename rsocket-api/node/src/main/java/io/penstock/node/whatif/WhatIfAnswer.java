package io.penstock.node.whatif;

import io.penstock.block.BlockLayout;
import io.penstock.node.shape.ModelSize;
import io.penstock.pool.curve.HitRateCurve;
import io.penstock.pool.curve.HitRateCurve.Point;
import io.penstock.pool.curve.WhatIf;
import io.penstock.tier.TierInfo;
import java.util.ArrayList;
import java.util.List;

/// The answer of `/whatif`.
///
/// @param policy whose hit rates are estimated: always `lru`, whatever the policy of the node
/// @param spaces one estimate for each cache space
record WhatIfAnswer(String policy, List<Space> spaces) {
  static final String POLICY = "lru";

  WhatIfAnswer {
    spaces = List.copyOf(spaces);
  }

  /// @param space digest of the space, in hex; empty if the space has a salt
  /// @param tier that serves it
  /// @param blockTokens tokens of one block
  /// @param blockBytes bytes of one block
  /// @param expected hit rates at multiples of the present capacity of each level
  /// @param whatIf the whole curve, to read other capacities from
  record Space(String space, String tier, int blockTokens, long blockBytes, List<Expected> expected, WhatIf whatIf) {
    Space {
      expected = List.copyOf(expected);
    }

    static Space of(TierInfo tier, WhatIf whatIf) {
      BlockLayout layout = tier.space().layout();
      return new Space(tier.space().publicId(), tier.name(), tier.space().group().strideTokens(layout),
          layout.blockBytes(),
          WhatIfAnswer.expected(whatIf), rounded(whatIf));
    }

    /// Sizes of the blocks of the space.
    ///
    /// @param prefillRate tokens a second
    ModelSize size(double prefillRate) {
      return new ModelSize(tier, blockTokens, blockBytes, prefillRate);
    }
  }

  /// Expected hit rates if one level had another capacity.
  ///
  /// @param factor the capacity as a multiple of the present one
  /// @param hitRate of the level and the faster ones together
  /// @param plusMinus half the width of the 95 % interval around it
  /// @param tierHitRate of all levels together
  /// @param tierPlusMinus half the width of the 95 % interval around it
  record Expected(String level, double factor, long capacityBlocks, double hitRate, double plusMinus,
      double tierHitRate, double tierPlusMinus) {}

  private static List<Expected> expected(WhatIf whatIf) {
    List<Expected> expected = new ArrayList<>();
    for (int i = 0; i < (whatIf.curve().points().isEmpty() ? 0 : whatIf.levels().size()); i++) {
      WhatIf.Level level = whatIf.levels().get(i);
      for (double factor : WhatIf.FACTORS) {
        long capacity = level.times(factor);
        Point upTo = whatIf.upTo(i, capacity);
        Point whole = whatIf.whole(i, capacity);
        expected.add(new Expected(level.name(), factor, capacity, rounded(upTo.hitRate()), rounded(upTo.plusMinus()),
            rounded(whole.hitRate()), rounded(whole.plusMinus())));
      }
    }
    return expected;
  }

  private static WhatIf rounded(WhatIf whatIf) {
    HitRateCurve curve = whatIf.curve();
    return new WhatIf(new HitRateCurve(curve.references(), curve.rate(), curve.samples(), curve.depthBlocks(),
        curve.points().stream().map(WhatIfAnswer::rounded).toList()), whatIf.repeats(), whatIf.levels());
  }

  private static Point rounded(Point point) {
    return new Point(point.capacityBlocks(), rounded(point.hitRate()), rounded(point.plusMinus()),
        point.estimates().stream().map(WhatIfAnswer::rounded).toList());
  }

  /// Rounded value; more digits would have no meaning and double the answer.
  private static double rounded(double value) {
    return Math.round(value * 1e5) / 1e5;
  }
}

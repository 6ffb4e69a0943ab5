package io.penstock.examples.disaggregated.model;

import io.penstock.examples.disaggregated.tensors.ModelFileException;

/// The feed-forward part of a layer: `down(silu(gate(x)) × up(x))`, tile by tile of its columns.
public final class SwiGlu {
  private final Matrix gate;
  private final Matrix up;
  private final Matrix down;

  private SwiGlu(Matrix gate, Matrix up, Matrix down) {
    this.gate = gate;
    this.up = up;
    this.down = down;
  }

  static SwiGlu load(ModelConfig config, Linears linears) throws ModelFileException {
    int hidden = config.hiddenSize();
    int wide = config.intermediateSize();
    return new SwiGlu(linears.load("gate_proj", wide, hidden), linears.load("up_proj", wide, hidden),
        linears.load("down_proj", hidden, wide));
  }

  /// Contribution of the columns of one tile to the layer's output.
  public float[] tile(float[] x, int tile) {
    int column = tile * ModelConfig.COLUMN_TILE;
    float[] gated = gate.times(x, column, ModelConfig.COLUMN_TILE);
    float[] raised = up.times(x, column, ModelConfig.COLUMN_TILE);
    for (int i = 0; i < gated.length; i++) {
      gated[i] = Vectors.silu(gated[i]) * raised[i];
    }
    float[] sum = new float[down.columns()];
    down.addTimes(gated, column, 0, sum);
    return sum;
  }
}

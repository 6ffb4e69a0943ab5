package io.penstock.examples.disaggregated.model;

import io.penstock.examples.disaggregated.tensors.ModelFileException;

/// The feed-forward part of a layer: `down(silu(gate(x)) × up(x))`, tile by tile of its columns. A rank has some of
/// the tiles.
///
/// @param gate the outputs of a tile are its head
/// @param down matrix from the columns of the rank's tiles
public record SwiGlu(Projection gate, Projection up, Matrix down) {
  static SwiGlu load(ModelConfig config, ModelPart part, Linears linears) throws ModelFileException {
    int width = ModelConfig.COLUMN_TILE;
    int first = part.first(config.columnTiles());
    int count = part.count(config.columnTiles());
    boolean fused = config.family().fusesFeedForward();
    return new SwiGlu(Projection.load(linears, fused ? "gate_up_proj" : "gate_proj", 0, first, count, width),
        Projection.load(linears, fused ? "gate_up_proj" : "up_proj", fused ? config.intermediateSize() : 0, first,
            count, width),
        linears.inputs("down_proj", first * width, count * width));
  }

  /// Contribution of the columns of one tile to the layer's output.
  public float[] tile(float[] x, int tile) {
    float[] gated = gate.of(x, tile);
    float[] raised = up.of(x, tile);
    for (int i = 0; i < gated.length; i++) {
      gated[i] = Vectors.silu(gated[i]) * raised[i];
    }
    float[] sum = new float[down.columns()];
    down.addTimes(gated, (tile - gate.first()) * ModelConfig.COLUMN_TILE, 0, sum);
    return sum;
  }
}

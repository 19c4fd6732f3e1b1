"""The loss that kernels written in Python report."""

from embeddings.kernels.loss_tally import EXAMPLES, LOSS, STEPS, report_loss
from embeddings.kernels.step_buffers import new_step_buffers


def test_reported_losses_examples_and_steps_are_added():
    buffers = new_step_buffers(1, 1, 16)
    report_loss(buffers, 2.5, 3)
    report_loss(buffers, 0.5, 1, steps=2)
    assert buffers.tally[[LOSS, EXAMPLES, STEPS]].tolist() == [3.0, 4, 3]

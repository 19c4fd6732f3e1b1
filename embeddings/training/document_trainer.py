"""Base of trainers of models of documents and words."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from embeddings.corpora.documents import Documents, corpus_documents
from embeddings.kernels.row_operations import padded
from embeddings.kernels.step_buffers import StepBuffers
from embeddings.kernels.tag_rows import TagRows
from embeddings.models.initializers import INITIALIZERS
from embeddings.models.model import Model
from embeddings.models.parameters import Arrays
from embeddings.objectives.objective import Objective
from embeddings.settings import DocumentChoice
from embeddings.training.document_inference import DocumentInferencer
from embeddings.training.document_stream import document_table, tag_rows
from embeddings.training.plan import Kernel, Plan
from embeddings.training.prediction_trainer import PredictionTrainer
from embeddings.training.saved_tables import padded_tables, recorded_settings
from embeddings.training.stream import TokenStream
from embeddings.training.training_data import TrainingData


@dataclass(frozen=True, kw_only=True)
class DocumentTrainer(DocumentChoice, PredictionTrainer):
    """Base of trainers of models whose documents predict words; they infer the vectors of new documents.

    A subclass defines `infer_kernel`, `new_operands` and `new_buffers`, and a plan by `document_plan`.
    """

    combines_tags: ClassVar[bool] = False  # whether the tags of a document together predict its words

    @property
    def shrinks_window(self) -> bool:
        """Whether window sizes are drawn."""
        return self.shrink_window

    @property
    def infer_kernel(self) -> Callable[..., None]:
        """The kernel that infers document vectors, made of `embeddings.kernels.infer_documents.infer_documents`."""
        raise NotImplementedError

    def new_operands(self, tables: Arrays, objective: Any, tags: TagRows) -> Any:
        """What the kernels of one thread work on, given all arrays, the operand of the objective and rows of tags."""
        raise NotImplementedError

    def new_buffers(self, targets: int, width: int, tags: int) -> StepBuffers:
        """The step buffers of one thread, given the objective's targets, the padded dim and a document's tags."""
        raise NotImplementedError

    def check_documents(self, documents: Documents) -> None:
        """Refuse documents that do not fit the settings."""

    def sample_stream(self, stream: TokenStream) -> TokenStream:
        """The stream that is read, made from that of all words of documents."""
        return stream

    def document_noise(self, objective: Objective) -> int:
        """Random words drawn for each word while only documents and output vectors learn."""
        return objective.noise

    def document_plan(
        self, data: TrainingData, objective: Objective, *, kernel: Kernel, noise: int | None = None, **others: Any
    ) -> Plan:
        """The plan of a model with the tables of `word_tables` and "documents", (documents or tags, dim).

        Arguments:
            noise: random words drawn for each word, by default `document_noise`.
            others: other fields of the plan.
        """
        documents = corpus_documents(data.encoded, self.documents)
        self.check_documents(documents)
        max_tags, tags = int(documents.tag_counts.max(initial=1)), tag_rows(documents)
        vectors = document_table(data, documents, self.dim, INITIALIZERS[self.initializer])
        stream = data.window_stream(
            objective.noise_weights,
            self.document_noise(objective) if noise is None else noise,
            documents=documents,
            shrink_window=self.shrinks_window,
        )
        return self.window_plan(
            data,
            objective,
            tables={"documents": vectors, **self.word_tables(objective)},
            stream=self.sample_stream(stream),
            kernel=kernel,
            operands=lambda arrays, operand: self.new_operands(arrays, operand, tags),
            buffers=lambda targets, width: self.new_buffers(targets, width, max_tags),
            tags=documents.tags,
            **others,
        )

    @classmethod
    def inferencer(cls, model: Model) -> DocumentInferencer:
        """The inferencer of a trained model."""
        settings = recorded_settings(cls, model)
        objective = settings.new_objective(model.vocabulary)
        tables, width = padded_tables(model, settings.word_tables(objective)), padded(settings.dim)
        return DocumentInferencer(
            model,
            settings,
            objective.noise_weights,
            settings.document_noise(objective),
            buffers=lambda count: settings.new_buffers(objective.max_targets, width, count),
            kernel=settings.infer_kernel,
            operands=lambda rows, tags: settings.new_operands(
                {"documents": rows, **tables}, objective.operand(tables), tags
            ),
            shrink=settings.shrinks_window,
            tag_count=getattr(settings, "tag_count", 1),
            uses_tags=settings.combines_tags,
        )
